import { existsSync } from 'node:fs';
import { readChartFile, readValueEntries, writeOrCheck } from './chart/chart-files.ts';
import { toValuesSchema } from './chart/values-schema.ts';

/**
 * Writes charts/auth-account/values.schema.json from values.yaml and its comments, and from the services' configuration
 * schemas. With --check it writes nothing, and exits with 1 if the file is out of date.
 */

const NAME = 'values.schema.json';
const isThere = existsSync(new URL(`../../../charts/auth-account/${NAME}`, import.meta.url));
writeOrCheck(
  NAME,
  isThere ? readChartFile(NAME) : '',
  `${JSON.stringify(toValuesSchema(readValueEntries()), null, 2)}\n`,
);
