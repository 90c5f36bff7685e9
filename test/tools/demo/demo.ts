import { isRunning } from './demo-stack.ts';
import { showMainPath } from './main-path.ts';
import { startOwn } from './own-stack.ts';
import { followRunning } from './running-stack.ts';

// `npm run demo`: walks the main path as a story, on the running stack, or on a stack that it starts and ends.
const stack = (await isRunning()) ? await followRunning() : await startOwn();
try {
  await showMainPath(stack);
} catch (error) {
  console.error(`\nThe story broke off: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await stack.close();
}
