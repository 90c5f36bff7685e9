import { createInterface } from 'node:readline';

/** Answers the calls on stdin (`open-calls.ts`), each with a line of JSON on stdout, and ends with stdin. */
export function answerCalls<C extends Record<keyof C, (...args: never[]) => unknown>>(calls: C): void {
  async function outcomeOf(name: keyof C, args: readonly never[]) {
    try {
      return { result: await calls[name](...args) };
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException;
      return { error: [code, message].filter(Boolean).join(': ') };
    }
  }
  const lines = createInterface({ input: process.stdin });
  lines.on('line', async (line) => {
    const { id, name, args } = JSON.parse(line);
    process.stdout.write(`${JSON.stringify({ id, ...(await outcomeOf(name, args)) })}\n`);
  });
  lines.on('close', () => process.exit(0));
}
