import { useTitle } from '@auth-account/page/speech.tsx';
import type { ReactNode } from 'react';
import { Loaded } from '../api/loading.tsx';
import { useWords } from '../words/speech.ts';

interface RecordPageProps<T> {
  readonly title: string;
  readonly path: string;
  readonly children: (found: T) => ReactNode;
}

/** A headed view of what one GET answers. */
export function RecordPage<T>({ title, path, children }: RecordPageProps<T>) {
  const words = useWords();
  useTitle(`${title} · ${words.title}`);
  return (
    <>
      <h1>{title}</h1>
      <Loaded<T> path={path}>{children}</Loaded>
    </>
  );
}
