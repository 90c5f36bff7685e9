import { createSpeech } from '@auth-account/page/speech.tsx';
import { en } from './en.ts';
import { ru } from './ru.ts';

export const { Speech, useWords } = createSpeech({ en, ru });
