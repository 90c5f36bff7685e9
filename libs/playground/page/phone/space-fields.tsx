import { Field } from '@auth-account/page/field.tsx';
import { useId } from 'react';
import { useWords } from '../words/speech.ts';
import type { Phone } from './phone.ts';
import type { PhoneView, Space } from './phone-view.ts';

/** The choice of the space of a new account. */
export function SpaceFields({ view, phone }: { readonly view: PhoneView; readonly phone: Phone }) {
  const { phone: words } = useWords();
  const id = useId();
  return (
    <>
      <div className="field">
        <label htmlFor={id}>{words.space}</label>
        <select id={id} value={view.space} onChange={({ target }) => phone.type({ space: target.value as Space })}>
          {(Object.keys(words.spaces) as Space[]).map((space) => (
            <option key={space} value={space}>
              {words.spaces[space]}
            </option>
          ))}
        </select>
      </div>
      {view.space === 'JOIN_EXISTING' && (
        <Field label={words.invite} value={view.inviteToken} onChange={(inviteToken) => phone.type({ inviteToken })} />
      )}
    </>
  );
}
