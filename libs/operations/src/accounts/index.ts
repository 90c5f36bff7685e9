export type { EndingContext } from './announce-end.ts';
export { findGraceDaysFault, planDelete, planRestore } from './delete-account.ts';
export { planDisable, planEnable } from './disable-account.ts';
export { planFactorRemoval, planStopOfFactorRemoval } from './remove-second-factor.ts';
export { describeCounts, kindsOfSignInMethods, planRemovalOfMethods } from './remove-sign-in-methods.ts';
export { planResendOfCode } from './resend-code.ts';
export { planPasswordReset } from './reset-password.ts';
export { showAccount } from './show-account.ts';
export { planExport, planUnlock, type UseCounts } from './support-account.ts';
