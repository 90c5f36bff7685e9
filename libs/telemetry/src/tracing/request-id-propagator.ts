import type { Context, TextMapGetter, TextMapPropagator, TextMapSetter } from '@opentelemetry/api';
import { findRequestId, setRequestId } from './request-id-context.ts';

const field = 'x-request-id';
/** What the contract allows (decisions, "Requests in general"); anything else is not carried on. */
const allowed = /^[A-Za-z0-9._~:/+=-]{1,128}$/;

/** Carries `X-Request-ID` beside the trace context: on outgoing HTTP, in BullMQ jobs and in messages over Redis. */
export class RequestIdPropagator implements TextMapPropagator {
  inject(context: Context, carrier: unknown, setter: TextMapSetter): void {
    const requestId = findRequestId(context);
    if (requestId !== undefined) setter.set(carrier, field, requestId);
  }

  extract(context: Context, carrier: unknown, getter: TextMapGetter): Context {
    const value = getter.get(carrier, field);
    return typeof value === 'string' && allowed.test(value) ? setRequestId(context, value) : context;
  }

  fields(): string[] {
    return [field];
  }
}
