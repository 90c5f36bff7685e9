export { checkMail } from './check-mail.ts';
export { checkProviders } from './check-providers.ts';
export { type Examined, examine } from './examine.ts';
export { type Finding, failed, isOfVariable, ok, warning } from './finding.ts';
