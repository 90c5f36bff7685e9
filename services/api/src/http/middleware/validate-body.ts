import type { TSchema } from '@auth-account/contracts/type';
import { AppError } from '@auth-account/errors';
import type { RequestHandler } from 'express';
import { compileSchema } from '../validation/ajv.ts';
import type { BodyCheck } from '../validation/body-checks.ts';
import { validationItems } from '../validation/validation-items.ts';

/**
 * Checks the body against the route's schema and with its body check. Raises `ERR-VALIDATION-FAILED` with every
 * violation.
 */
export function validateBody(schema: TSchema, check: BodyCheck = () => []): RequestHandler {
  const validate = compileSchema(schema);
  return (req, _res, next) => {
    const fits = validate(req.body);
    const details = [...(fits ? [] : validationItems(validate.errors ?? [])), ...check(req.body)];
    if (!fits || details.length > 0) throw new AppError('ERR-VALIDATION-FAILED', { details });
    next();
  };
}
