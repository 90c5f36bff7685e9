import type { Schema } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

const ajv = addFormats.default(new Ajv2020(), ['uuid', 'date-time', 'uri-reference']);

/** Returns true if the value matches the contract's schema, by another validator than the services use. */
export const matchesSchema = (schema: Schema, value: unknown): boolean => ajv.validate(schema, value);
