import { type OnTraffic, type Owner, shownContent, shownHeaders } from './traffic.ts';

/** Returns the content of a request that the picture shows. */
export function requestOf(owner: Owner | undefined, url: string, { method = 'GET', headers, body }: RequestInit) {
  const requestId = new Headers(headers).get('X-Request-ID') ?? '';
  const content = { method, headers: shownHeaders(headers), body: shownContent(String(body ?? '')) };
  return { owner, requestId, path: new URL(url).pathname, ...content };
}

/**
 * Sends a request, and reports the request and its answer. `isLost` is asked after the service has done its work and
 * answered. If it returns true, the phone loses the answer and this throws a `TypeError`, the same as `fetch`.
 */
export async function tracedFetch(
  owner: Owner | undefined,
  onTraffic: OnTraffic,
  { url, init, isLost }: { readonly url: string; readonly init: RequestInit; readonly isLost?: () => boolean },
): Promise<Response> {
  const request = requestOf(owner, url, init);
  onTraffic({ ...request, type: 'sent', at: Date.now() });
  const answer = await fetch(url, init);
  const body = shownContent(await answer.clone().text());
  const hasGone = isLost?.() ?? false;
  const { requestId } = request;
  onTraffic({ owner, requestId, type: hasGone ? 'lost' : 'answered', at: Date.now(), status: answer.status, body });
  if (hasGone) throw new TypeError('the answer was lost');
  return answer;
}
