export { pageOfDeadLetters } from './dead-letters.ts';
export { shareWork } from './share-work.ts';
export { readSubscribers, viewSystem } from './view-system.ts';
