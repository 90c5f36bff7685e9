import type { Forger } from '../../support/api/token-forger.ts';
import { tamperedClaims, wrongClaims } from './forged-claims.ts';
import { hugeTokens, oddJson, oddStructures } from './forged-forms.ts';
import { forgedAlgorithms, forgedHeaders, forgedKids } from './forged-headers.ts';
import { forgedSignatures, wrongKeys } from './forged-signatures.ts';

/** Forged tokens, by the idea behind them. */
export type Forgeries = Readonly<Record<string, readonly string[]>>;

/** Returns every systematic forgery, some two thousand. Forgeries that only change characters are in `spellingsOf`. */
export function forgeriesOf(forger: Forger): Forgeries {
  return {
    algorithms: forgedAlgorithms(forger),
    headers: forgedHeaders(forger),
    kids: forgedKids(forger),
    signatures: forgedSignatures(forger),
    'claims without a new signature': tamperedClaims(forger),
    'claims that are wrong, rightly signed': wrongClaims(forger),
    'JSON that is not as we write it': oddJson(forger),
    structures: oddStructures(forger),
    'keys that are not in force': wrongKeys(forger),
    sizes: hugeTokens(forger),
  };
}

/** Returns the genuine token with one character changed or added, or cut short: some nine thousand tokens. */
export function spellingsOf({ genuine }: Forger): Forgeries {
  const places = [...genuine].map((_, at) => at);
  const replacements = [...'AgQwZz09-_', '=', '+', '.', ' ', 'é'];
  const gaps = ['=', ' ', '\n', '\u0000', '.', 'A'];
  return {
    'one character changed': places.flatMap((at) =>
      replacements.filter((c) => c !== genuine[at]).map((c) => genuine.slice(0, at) + c + genuine.slice(at + 1)),
    ),
    'one character too many': places
      .filter((at) => at % 5 === 0)
      .flatMap((at) => gaps.map((gap) => genuine.slice(0, at) + gap + genuine.slice(at))),
    'cut short': places.flatMap((at) => [genuine.slice(0, at), ...(at === 0 ? [] : [genuine.slice(at)])]),
  };
}
