import { Session } from 'node:inspector/promises';

/** Records, by V8's counts, which functions of the modules below a folder are called from now on. */
export interface CallWatch {
  /** Ends the watch, and returns a predicate that says whether a given function was called. */
  end(): Promise<(one: (...args: never[]) => unknown) => boolean>;
}

export async function watchCalls(folder: URL): Promise<CallWatch> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Debugger.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return {
    async end() {
      const { result } = await session.post('Profiler.takePreciseCoverage');
      const texts: string[] = [];
      for (const { scriptId, functions } of result.filter(({ url }) => url.startsWith(folder.href))) {
        const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId });
        const called = functions.flatMap(({ ranges: [whole] }) =>
          whole !== undefined && whole.count > 0 ? [whole] : [],
        );
        texts.push(...called.map(({ endOffset }) => scriptSource.slice(0, endOffset)));
      }
      session.disconnect();
      return (one) => texts.some((text) => text.endsWith(String(one)));
    },
  };
}
