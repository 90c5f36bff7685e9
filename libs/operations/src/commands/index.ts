export { commandStates, listCommands, showCommand } from './list-commands.ts';
export type { OrderOptions } from './order-force-logout.ts';
