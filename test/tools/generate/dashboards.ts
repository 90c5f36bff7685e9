import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { api } from './dashboards/api.ts';
import { overview } from './dashboards/overview.ts';
import { pushGateway } from './dashboards/push-gateway.ts';
import { toGrafana } from './dashboards/to-grafana.ts';
import { worker } from './dashboards/worker.ts';

/**
 * Writes the Grafana dashboards of the chart from their descriptions in `dashboards/`. With --check it writes nothing,
 * and exits with 1 if any is out of date.
 */

const FOLDER = new URL('../../../charts/auth-account/dashboards/', import.meta.url);
const isCheck = process.argv.includes('--check');

for (const dashboard of [overview, api, pushGateway, worker]) {
  const file = new URL(`${dashboard.name}.json`, FOLDER);
  const text = `${JSON.stringify(toGrafana(dashboard), null, 2)}\n`;
  if (!isCheck) {
    writeFileSync(file, text);
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    console.error(`charts/auth-account/dashboards/${dashboard.name}.json is out of date. Run: npm run generate`);
    process.exitCode = 1;
  }
}
