export { createPlayground, type Playground, type PlaygroundOptions } from './create-playground.ts';
