import type { Mongo } from '../context.ts';
import { loadEvent } from '../events/list-events.ts';
import { type TraceContext, traceRequest } from '../trace/trace-request.ts';
import { createDeliveriesOf, deliveryOfLetter } from './deliveries.ts';
import { maskEmailsIn } from './mask-email.ts';
import { shortTopic } from './messages.ts';

/** Days for which staff see a request: the database keeps delivered events and ended sessions about as long. */
const tracedDays = 8;

/** Traces a request of the last days. Throws what `traceRequest` throws. */
export async function viewRequest(context: TraceContext & Pick<Mongo, 'now'>, requestId: string) {
  const since = new Date(context.now().getTime() - tracedDays * 86_400_000);
  const trace = await traceRequest(context, { requestId, since });
  const steps = trace.steps.map(({ at, after_ms, what, ...facts }) => {
    const known = Object.entries(facts).flatMap(([name, value]) => {
      if (value === undefined) return [];
      return [[name, typeof value === 'string' ? maskEmailsIn(value) : value]];
    });
    return { at, after_ms, what, facts: Object.fromEntries(known) as Record<string, string | number | boolean> };
  });
  return { request_id: trace.request_id, steps, gaps: trace.gaps };
}

/** Returns one event with its deliveries. Throws an `OperationError` of the kind `unknown` if it does not exist. */
export async function viewEvent(mongo: Pick<Mongo, 'collections' | 'stores'>, eventId: string) {
  const { row, letters, event, attempts } = await loadEvent(mongo.stores, eventId);
  const deliveries = row ? (await createDeliveriesOf(mongo, [eventId]))(row) : letters.map(deliveryOfLetter);
  return {
    event_id: eventId,
    topic: shortTopic(event.type),
    state: row?.state ?? ('gone' as const),
    user_id: event.subject,
    request_id: event.requestid,
    at: row?.created_at ?? new Date(event.time),
    deliveries,
    attempts: attempts.map(({ subscriber, at, outcome, status = null, error = null }) => {
      return { subscriber, at, outcome, status, error: error && maskEmailsIn(error) };
    }),
  };
}
