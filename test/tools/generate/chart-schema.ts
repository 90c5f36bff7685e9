import { readValueEntries } from './chart/value-entries.ts';
import { toValuesSchema } from './chart/values-schema.ts';
import { generateFile } from './page-sections.ts';

/**
 * Writes the chart's values.schema.json from values.yaml and its comments, and from the services' configuration
 * schemas. With --check it only compares.
 */

const schema = toValuesSchema(readValueEntries());
generateFile('charts/auth-account/values.schema.json', `${JSON.stringify(schema, null, 2)}\n`, 'chart-schema');
