import { createStore } from '@auth-account/page/store.ts';
import type { MouseEvent, ReactNode } from 'react';

const here = () => location.pathname + location.search;

/** Path and query of the view that is shown. */
export const place = createStore(here());
addEventListener('popstate', () => place.change(here));

/** Shows another view. */
export function go(to: string): void {
  history.pushState(null, '', to);
  place.change(here);
}

/** A link to a view, which opens in this page unless the reader wants another tab. */
export function Link({ to, children }: { readonly to: string; readonly children: ReactNode }) {
  function open(event: MouseEvent): void {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0) return;
    event.preventDefault();
    go(to);
  }
  return (
    <a href={to} onClick={open}>
      {children}
    </a>
  );
}
