import type { LiveMessage } from '../../src/live/step.ts';
import type { Traffic } from '../phone/traffic.ts';
import { createStore, type Store } from '../store.ts';
import { type Sequence, withSteps, withTraffic } from './sequence.ts';

/** The picture as it grows. */
export interface LiveSequence {
  readonly sequence: Pick<Store<Sequence>, 'read' | 'subscribe'>;
  /** False while the page can't hear the services. */
  readonly isLive: Pick<Store<boolean>, 'read' | 'subscribe'>;
  addTraffic(traffic: Traffic): void;
  clear(): void;
}

/** Follows the services' reports; `onMail` is called with each mail that arrives. */
export function followLive(onMail: () => void): LiveSequence {
  const sequence = createStore<Sequence>([]);
  const isLive = createStore(false);
  // What a request does after its chapter was cleared would be drawn as somebody else's.
  const cleared = new Set<string>();
  const source = new EventSource('/live');
  source.onopen = () => isLive.change(() => true);
  source.onerror = () => isLive.change(() => false);
  source.onmessage = ({ data }) => {
    const message: LiveMessage = JSON.parse(data);
    if (message.type === 'mail') onMail();
    else if (!cleared.has(message.requestId)) sequence.change((now) => withSteps(now, message));
  };
  return {
    sequence,
    isLive,
    addTraffic: (traffic) => sequence.change((now) => withTraffic(now, traffic)),
    clear() {
      for (const { requestId } of sequence.read()) cleared.add(requestId);
      sequence.change(() => []);
    },
  };
}
