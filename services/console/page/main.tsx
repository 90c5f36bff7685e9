import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ConsolePage } from './console-page.tsx';
import { Speech } from './words/speech.ts';

const place = document.getElementById('page');
if (place === null) throw new Error('the page has no place for the console');
createRoot(place).render(
  <StrictMode>
    <Speech>
      <ConsolePage />
    </Speech>
  </StrictMode>,
);
