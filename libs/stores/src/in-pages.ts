/** Gives what comes one by one in lists of `pageSize`; the last one may be shorter. */
export async function* inPages<T>(items: AsyncIterable<T>, pageSize: number): AsyncIterable<T[]> {
  let page: T[] = [];
  for await (const item of items) {
    page.push(item);
    if (page.length < pageSize) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
