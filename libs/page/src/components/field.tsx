import { type Ref, useId } from 'react';

export interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly inputMode?: 'email' | 'numeric' | 'text';
  readonly maxLength?: number;
  readonly ref?: Ref<HTMLInputElement>;
}

/** A labelled field. What is typed is shown, also a playground's passwords. */
export function Field({ label, value, onChange, inputMode = 'text', maxLength, ref }: FieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        ref={ref}
        value={value}
        inputMode={inputMode}
        maxLength={maxLength}
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => onChange(target.value)}
      />
    </div>
  );
}
