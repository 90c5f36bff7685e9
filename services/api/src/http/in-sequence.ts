import type { NextFunction, Request, RequestHandler, Response } from 'express';

/**
 * Creates one handler out of several, which run one after the other as in Express. If a handler throws or rejects, its
 * error goes to the error handler, and the rest are skipped. The argument of `next('route')` goes to the error handler
 * too, although Express treats it separately. This saves the costs of each layer of Express's router: a match, closures
 * and a promise check (docs/performance.md).
 */
export function inSequence(handlers: readonly RequestHandler[]): RequestHandler {
  function run(index: number, req: Request, res: Response, done: NextFunction): void {
    const handler = handlers[index];
    if (handler === undefined) {
      done();
      return;
    }
    const next = (error?: unknown) => (error ? done(error) : run(index + 1, req, res, done));
    const fail = (error: unknown) => done(error || new Error('a handler failed without a reason'));
    try {
      const result: unknown = handler(req, res, next as NextFunction);
      if (result instanceof Promise) result.catch(fail);
    } catch (error) {
      fail(error);
    }
  }
  return (req, res, done) => run(0, req, res, done);
}
