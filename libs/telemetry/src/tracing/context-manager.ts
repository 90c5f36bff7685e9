import type { Context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { hideUnsampled } from './unsampled.ts';

/** The SDK's context manager. A function that it runs never finds a span of a trace that is not kept active. */
export class ContextManager extends AsyncLocalStorageContextManager {
  override with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    context: Context,
    run: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return super.with(hideUnsampled(context), run, thisArg, ...args);
  }
}
