import { CallError } from '../api/call.ts';
import { useWords } from '../words/speech.ts';
import { Id } from './values.tsx';

/** An error in the reader's words, with the server's own and the id of the request. */
export function Failure({ error, onAgain }: { readonly error: unknown; readonly onAgain?: () => void }) {
  const words = useWords();
  // Everything else is a bug of the page.
  const { code, message, requestId } = error instanceof CallError ? error : new CallError('internal', String(error));
  return (
    <div className="failure" role="alert">
      <p>{words.errors[code]}</p>
      {message !== '' && <p lang="en">{message}</p>}
      {requestId !== undefined && (
        <p>
          {words.request}: <Id value={requestId} />
        </p>
      )}
      {onAgain && (
        <button type="button" onClick={onAgain}>
          {words.again}
        </button>
      )}
    </div>
  );
}
