import { createContext, useContext } from 'react';
import { createStore } from '../store.ts';
import { en, type Words } from './en.ts';
import { ru } from './ru.ts';

export const languages = { en, ru } as const;
export type Language = keyof typeof languages;

const storedUnder = 'language';

function firstLanguage(): Language {
  const chosen = sessionStorage.getItem(storedUnder) ?? navigator.language.slice(0, 2);
  return chosen === 'ru' ? 'ru' : 'en';
}

export const language = createStore<Language>(firstLanguage());

export function choose(next: Language): void {
  sessionStorage.setItem(storedUnder, next);
  language.change(() => next);
}

const SpeechContext = createContext<Words>(en);
export const Speech = SpeechContext.Provider;

/** Returns the texts in the reader's language. */
export const useWords = (): Words => useContext(SpeechContext);
