import { createContext, type ReactNode, useContext, useEffect, useReducer, useRef, useState } from 'react';
import type { Page } from '../../src/contract/index.ts';
import { Failure } from '../parts/failure.tsx';
import { useWords } from '../words/speech.ts';
import { get } from './call.ts';

const nothing = () => undefined;
const Again = createContext<() => void>(nothing);

/** Returns a function that reads the view again, such as after an action. */
export const useAgain = (): (() => void) => useContext(Again);

/** The answer to one GET. While it is read again, the earlier answer stays. */
export function Loaded<T>({ path, children }: { path: string; children: (answer: T) => ReactNode }) {
  const [state, setState] = useState<{ answer?: T; error?: unknown }>({});
  const [turn, again] = useReducer((turns: number) => turns + 1, 0);
  useEffect(() => {
    let isCurrent = true;
    const show = (next: { answer?: T; error?: unknown }) => isCurrent && setState(next);
    get<T>(path).then(
      (answer) => show({ answer }),
      (error) => show({ error }),
    );
    return () => {
      isCurrent = false;
    };
  }, [path, turn]);
  const words = useWords();
  if (state.error !== undefined) return <Failure error={state.error} onAgain={again} />;
  if (state.answer === undefined) return <p className="empty">{words.reading}</p>;
  return <Again value={again}>{children(state.answer)}</Again>;
}

interface Task {
  readonly isBusy: boolean;
  readonly error: unknown;
  /** Runs the work, and keeps its error. Of two works at the same time only the later one's counts. */
  readonly run: (work: () => Promise<void>) => Promise<void>;
}

/** Returns what a button needs that starts work. */
export function useTask(): Task {
  const [state, setState] = useState<Pick<Task, 'isBusy' | 'error'>>({ isBusy: false, error: undefined });
  const last = useRef<() => Promise<void>>(undefined);
  async function run(work: () => Promise<void>): Promise<void> {
    last.current = work;
    setState({ isBusy: true, error: undefined });
    const error = await work().catch((caught: unknown) => caught);
    if (last.current === work) setState({ isBusy: false, error });
  }
  return { ...state, run };
}

interface MoreProps<T> {
  readonly label: string;
  /** The first part, unless it must be asked for. */
  readonly first?: Page<T>;
  /** Path of the further parts. */
  readonly path: string;
  readonly children: (item: T) => ReactNode;
}

/** A list that is read part by part, by a button. */
export function MoreList<T>({ label, first, path, children }: MoreProps<T>) {
  const words = useWords();
  const { isBusy, error, run } = useTask();
  const [{ of, pages }, setRead] = useState<{ of: typeof first; pages: readonly Page<T>[] }>({ of: first, pages: [] });
  const all = [...(first ? [first] : []), ...(of === first ? pages : [])];
  const items = all.flatMap((page) => page.items);
  const next = all.at(-1)?.next;
  const verb = all.length === 0 ? words.show : words.more;
  const list = useRef<HTMLUListElement>(null);
  async function more(): Promise<void> {
    const query = next ? `${path.includes('?') ? '&' : '?'}after=${encodeURIComponent(next)}` : '';
    const page = await get<Page<T>>(path + query);
    setRead({ of: first, pages: [...(of === first ? pages : []), page] });
    // The button goes away with the last part, so the focus stays at the list.
    if (page.next === null) list.current?.focus();
  }
  return (
    <>
      <ul ref={list} tabIndex={-1} className="rows" aria-label={label}>
        {items.map((item, n) => (
          <li key={n}>{children(item)}</li>
        ))}
      </ul>
      {all.length > 0 && items.length === 0 && <p className="empty">{words.none}</p>}
      {next !== null && (
        <button type="button" aria-label={`${verb}: ${label}`} disabled={isBusy} onClick={() => void run(more)}>
          {verb}
        </button>
      )}
      {error !== undefined && <Failure error={error} />}
    </>
  );
}
