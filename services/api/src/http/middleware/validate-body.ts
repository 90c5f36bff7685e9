import { AppError } from '@auth-account/errors';
import type { RequestHandler } from 'express';
import type { TSchema } from 'typebox';
import { compileSchema } from '../validation/ajv.ts';
import { validationItems } from '../validation/validation-items.ts';

/** Holds the body against its schema. Raises `ERR-VALIDATION-FAILED` with every violation. */
export function validateBody(schema: TSchema): RequestHandler {
  const validate = compileSchema(schema);
  return (req, _res, next) => {
    if (!validate(req.body)) {
      throw new AppError('ERR-VALIDATION-FAILED', { details: validationItems(validate.errors ?? []) });
    }
    next();
  };
}
