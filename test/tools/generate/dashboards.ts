import { api } from './dashboards/api.ts';
import { staffConsole } from './dashboards/console.ts';
import { overview } from './dashboards/overview.ts';
import { pushGateway } from './dashboards/push-gateway.ts';
import { toGrafana } from './dashboards/to-grafana.ts';
import { worker } from './dashboards/worker.ts';
import { generateFile } from './page-sections.ts';

/** Writes the chart's Grafana dashboards from their descriptions in `dashboards/`. With --check it only compares. */

for (const dashboard of [overview, api, pushGateway, worker, staffConsole]) {
  const text = `${JSON.stringify(toGrafana(dashboard), null, 2)}\n`;
  generateFile(`charts/auth-account/dashboards/${dashboard.name}.json`, text, 'dashboards');
}
