import type { SignInRefusal } from '../runtime/metrics.ts';

const texts: Readonly<Record<SignInRefusal, readonly [english: string, russian: string]>> = {
  not_begun: [
    'This sign-in was not begun in this browser, or more than ten minutes ago.',
    'Этот вход начат не в этом браузере или более десяти минут назад.',
  ],
  refused: ['The sign-in was refused.', 'Во входе отказано.'],
  no_role: ['You have no role in this console.', 'У вас нет роли в этой консоли.'],
  unavailable: ['The sign-in service does not answer.', 'Служба входа не отвечает.'],
  limited: ['Too many sign-ins from your network.', 'Слишком много попыток входа из вашей сети.'],
};

/** Returns the page for a person whose sign-in failed. It does not begin another one, which could go on for ever. */
export function refusalPage(reason: SignInRefusal, requestId: string): string {
  const [english, russian] = texts[reason];
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Console</title><link rel="icon" href="data:,"></head>
<body><main><h1>Console</h1>
<p>${english} <a href="/sign-in">Sign in again</a></p>
<p lang="ru">${russian} <a href="/sign-in">Войти снова</a></p>
<p><code>${requestId}</code></p></main></body>
</html>
`;
}
