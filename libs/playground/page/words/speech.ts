import { createSpeech } from '@auth-account/page/speech.tsx';
import { en } from './en.ts';
import { ru } from './ru.ts';

export const texts = { en, ru } as const;
export const { Speech, useWords } = createSpeech(texts);
