import type { ReactNode } from 'react';

export interface FormProps {
  readonly isBusy: boolean;
  /** Text of the form's button. */
  readonly action: string;
  readonly onSubmit: () => Promise<void>;
  readonly children: ReactNode;
}

/** Fields with one button. Enter presses it too. */
export function Form({ isBusy, action, onSubmit, children }: FormProps) {
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        void onSubmit();
      }}
    >
      {children}
      <button type="submit" className="primary" disabled={isBusy}>
        {action}
      </button>
    </form>
  );
}
