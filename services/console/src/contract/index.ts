export type * from './account-answers.ts';
export type * from './action-answers.ts';
export type * from './answers.ts';
export { errorCodes } from './answers.ts';
export * from './requests.ts';
export * from './roles.ts';
export type * from './system-answers.ts';
