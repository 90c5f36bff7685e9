/**
 * Makes what collects the items of one turn of the event loop, and hands them on at its end; as soon as there are `most` of
 * them, those at once.
 */
export function createTickBatcher<Item>(most: number, enqueue: (items: readonly Item[]) => void): (item: Item) => void {
  let waiting: Item[] = [];
  let endOfTurn: NodeJS.Immediate | undefined;

  function flush(): void {
    const items = waiting;
    waiting = [];
    clearImmediate(endOfTurn);
    enqueue(items);
  }

  return (item) => {
    const count = waiting.push(item);
    if (count === 1) endOfTurn = setImmediate(flush);
    if (count === most) flush();
  };
}
