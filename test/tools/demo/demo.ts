import { openDemoStack } from './demo-stack.ts';
import { tellGroupPath } from './group-path.ts';
import { tellMainPath } from './main-path.ts';

// `npm run demo`: the main path as a story, against the running stack, or one that it starts and ends.
const stack = await openDemoStack();
try {
  await tellMainPath(stack);
  await tellGroupPath(stack);
} catch (error) {
  console.error(`\nThe story broke off: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await stack.close();
}
