export { type AccountViewContext, loadAccountById, viewAccount, viewAddress } from './account-view.ts';
export { listEnded, readUnrevoked } from './ended-sessions.ts';
export { type Found, findByText } from './find.ts';
export { viewGroup } from './group-view.ts';
export { listMessages } from './messages.ts';
export { viewTimeline } from './timeline.ts';
export { viewEvent, viewRequest } from './trace-views.ts';
