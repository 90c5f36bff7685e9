import { createContext, type ReactNode, useContext, useEffect } from 'react';
import { createStore, useStore } from './store.ts';

const languages = ['en', 'ru'] as const;
export type Language = (typeof languages)[number];

const storedUnder = 'language';

function firstLanguage(): Language {
  const chosen = sessionStorage.getItem(storedUnder) ?? navigator.language.slice(0, 2);
  return chosen === 'ru' ? 'ru' : 'en';
}

/** The reader's language: chosen in this tab, or else the browser's. */
export const language = createStore<Language>(firstLanguage());

function choose(next: Language): void {
  sessionStorage.setItem(storedUnder, next);
  language.change(() => next);
}

/** Creates what gives a page's parts their texts in the reader's language. */
export function createSpeech<W>(texts: Readonly<Record<Language, W>>) {
  const Context = createContext<W>(texts.en);

  /** The page in the reader's language. */
  function Speech({ children }: { readonly children: ReactNode }) {
    const chosen = useStore(language);
    useEffect(() => {
      document.documentElement.lang = chosen;
    }, [chosen]);
    return <Context value={texts[chosen]}>{children}</Context>;
  }

  /** Returns the texts in the reader's language. */
  const useWords = (): W => useContext(Context);
  return { Speech, useWords };
}

/** Gives the document its title. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title;
  }, [title]);
}

/** Buttons that choose the language. */
export function LanguageChoice({ label }: { readonly label: string }) {
  const chosen = useStore(language);
  return (
    <fieldset className="language">
      <legend className="hidden">{label}</legend>
      {languages.map((each) => (
        <button key={each} type="button" lang={each} aria-pressed={each === chosen} onClick={() => choose(each)}>
          {each}
        </button>
      ))}
    </fieldset>
  );
}
