import type { NextFunction, Request, RequestHandler, Response } from 'express';

/**
 * Creates one handler of several, which follow each other as Express would have them do: what one throws or rejects
 * with goes to the error handler, past the rest, and so does `next('route')`, which is for Express to tell from an
 * error. Express's router takes a layer with a match, closures and a promise check for each (docs/performance.md).
 */
export function inSequence(handlers: readonly RequestHandler[]): RequestHandler {
  function run(index: number, req: Request, res: Response, done: NextFunction): void {
    const handler = handlers[index];
    if (handler === undefined) {
      done();
      return;
    }
    const next = (error?: unknown) => (error ? done(error) : run(index + 1, req, res, done));
    const fail = (error: unknown) => done(error || new Error('a handler failed without saying why'));
    try {
      const result: unknown = handler(req, res, next as NextFunction);
      if (result instanceof Promise) result.catch(fail);
    } catch (error) {
      fail(error);
    }
  }
  return (req, res, done) => run(0, req, res, done);
}
