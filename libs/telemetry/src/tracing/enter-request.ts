import { context, trace } from '@opentelemetry/api';
import { requestIdAttribute } from './name-request-on-spans.ts';
import { setRequestId } from './request-id-context.ts';

/** Runs what follows in the context of that request, and names the request on the span that is active already. */
export function enterRequest(requestId: string, next: () => void): void {
  const active = context.active();
  trace.getSpan(active)?.setAttribute(requestIdAttribute, requestId);
  context.with(setRequestId(active, requestId), next);
}

/** Says which route the active span's request takes: its template, never its raw path. */
export function nameActiveRoute(route: string): void {
  trace.getActiveSpan()?.setAttributes({ 'http.route': route, 'url.path': route });
}
