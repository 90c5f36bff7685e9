/**
 * Collects the items of one turn of the event loop. It passes them to `onBatch` at the end of the turn, or earlier, as
 * soon as there are `most` items.
 */
export function createTickBatcher<Item>(max: number, onBatch: (items: readonly Item[]) => void): (item: Item) => void {
  let waiting: Item[] = [];
  let endOfTurn: NodeJS.Immediate | undefined;

  function flush(): void {
    const items = waiting;
    waiting = [];
    clearImmediate(endOfTurn);
    onBatch(items);
  }

  return (item) => {
    const count = waiting.push(item);
    if (count === 1) endOfTurn = setImmediate(flush);
    if (count === max) flush();
  };
}
