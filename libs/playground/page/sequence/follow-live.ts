import { createStore, type Store } from '@auth-account/page/store.ts';
import type { LiveMessage } from '../../src/live/step.ts';
import type { Traffic } from '../phone/traffic.ts';
import { type Sequence, withSteps, withTraffic } from './sequence.ts';

/** The picture, which grows while it is watched. */
export interface LiveSequence {
  readonly sequence: Pick<Store<Sequence>, 'read' | 'subscribe'>;
  /** False while the page does not get the services' reports. */
  readonly isLive: Pick<Store<boolean>, 'read' | 'subscribe'>;
  addTraffic(traffic: Traffic): void;
  clear(): void;
}

/** Follows the services' reports. Calls `onMail` for each mail that arrives. */
export function followLive(onMail: () => void): LiveSequence {
  const sequence = createStore<Sequence>([]);
  const isLive = createStore(false);
  // Requests whose chapter was removed. Their later steps would look like somebody else's request.
  const gone = new Set<string>();
  const change = (next: (now: Sequence) => Sequence) =>
    sequence.change((now) => {
      const after = next(now);
      const kept = new Set(after.map(({ requestId }) => requestId));
      for (const { requestId } of now) if (!kept.has(requestId)) gone.add(requestId);
      return after;
    });
  const source = new EventSource('/live');
  source.onopen = () => isLive.change(() => true);
  source.onerror = () => isLive.change(() => false);
  source.onmessage = ({ data }) => {
    const message: LiveMessage = JSON.parse(data);
    if (message.type === 'mail') onMail();
    else if (!gone.has(message.requestId)) change((now) => withSteps(now, message));
  };
  return {
    sequence,
    isLive,
    addTraffic(traffic) {
      if (!('requestId' in traffic && gone.has(traffic.requestId))) change((now) => withTraffic(now, traffic));
    },
    clear: () => change(() => []),
  };
}
