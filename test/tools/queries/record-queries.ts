import { execFileSync } from 'node:child_process';

/** `npm run generate queries`: records the queries that the services send, for their test. */
const jest = ['node_modules/jest/bin/jest.js', '--config', 'test/jest.config.js', 'test/integration/stores/queries'];
execFileSync(process.execPath, jest, { stdio: 'inherit', env: { ...process.env, RECORD_QUERIES: '1' } });
