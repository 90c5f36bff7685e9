import { createHash } from 'node:crypto';
import type { Panel, Unit } from './panel.ts';

/** Panels under a heading. */
export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export interface Dashboard {
  /** The name of the file. It is also part of the uid, by which dashboards link to each other. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The initial value of the variable `job`, which is one service, or `$__all`. */
  readonly job: string;
  readonly rows: readonly Row[];
}

/** The schema version of Grafana 12.0, which earlier releases from 10 on can read too. */
const schemaVersion = 41;
const columns = 24;
const heights = { stat: 4, timeseries: 8 } as const;
const datasource = { type: 'prometheus', uid: '$datasource' } as const;

function variable(name: string, label: string, query: string, current: string) {
  const isAll = current === '$__all';
  return {
    type: 'query',
    name,
    label,
    datasource,
    query: { query, refId: name },
    definition: query,
    refresh: 2,
    sort: 1,
    multi: true,
    includeAll: true,
    allValue: name === 'job' ? 'auth-.*' : '.*',
    current: { selected: true, text: [isAll ? 'All' : current], value: [current] },
  };
}

function templating(job: string) {
  return {
    list: [
      { type: 'datasource', name: 'datasource', label: 'Prometheus', query: 'prometheus', current: {}, refresh: 1 },
      variable('namespace', 'Namespace', 'label_values(auth_build_info, namespace)', '$__all'),
      variable('job', 'Service', 'label_values(auth_build_info{namespace=~"$namespace"}, job)', job),
    ],
  };
}

function fieldConfig({ unit, steps, decimals, kind }: Panel) {
  const thresholds = (steps ?? [[undefined, 'green']]).map(([from, color]) => ({ value: from ?? null, color }));
  const line = { drawStyle: 'line', lineWidth: 1, fillOpacity: 10, showPoints: 'never', spanNulls: false };
  return {
    defaults: {
      unit: unit satisfies Unit,
      ...(decimals === undefined ? {} : { decimals }),
      ...(kind === 'timeseries' ? { min: 0, custom: line } : { noValue: 'none' }),
      color: { mode: kind === 'stat' ? 'thresholds' : 'palette-classic' },
      thresholds: { mode: 'absolute', steps: thresholds },
    },
    overrides: [],
  };
}

function optionsOf({ kind }: Panel) {
  return kind === 'stat'
    ? { reduceOptions: { calcs: ['lastNotNull'] }, colorMode: 'background', graphMode: 'none', textMode: 'auto' }
    : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } };
}

/** Returns a panel's id, which links to it contain: it depends on its title only, so that no other panel changes it. */
function idOf(type: string, title: string): number {
  return createHash('sha256').update(`${type} ${title}`).digest().readUInt32BE() >>> 1;
}

function toPanel(panel: Panel, place: { readonly x: number; readonly y: number }) {
  const { kind, title, description, queries, width } = panel;
  return {
    id: idOf(kind, title),
    type: kind,
    title,
    description,
    datasource,
    gridPos: { ...place, w: width, h: heights[kind] },
    fieldConfig: fieldConfig(panel),
    options: optionsOf(panel),
    targets: queries.map(([expr, legend], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource,
      expr,
      ...(legend ? { legendFormat: legend } : {}),
      ...(kind === 'stat' ? { instant: true } : { range: true, exemplar: expr.includes('_bucket') }),
    })),
  };
}

/** Places rows below each other, and panels from left to right as far as they fit. */
function layOut(rows: readonly Row[]) {
  const panels: object[] = [];
  let y = 0;
  for (const row of rows) {
    const title = { type: 'row', title: row.title, collapsed: false, panels: [] };
    panels.push({ id: idOf('row', row.title), ...title, gridPos: { x: 0, y, w: columns, h: 1 } });
    y += 1;
    let x = 0;
    let height = 0;
    for (const panel of row.panels) {
      if (x + panel.width > columns) {
        y += height;
        [x, height] = [0, 0];
      }
      panels.push(toPanel(panel, { x, y }));
      x += panel.width;
      height = Math.max(height, heights[panel.kind]);
    }
    y += height;
  }
  return panels;
}

/** Returns the dashboard in the form that Grafana imports. */
export function toGrafana({ name, title, description, job, rows }: Dashboard): object {
  return {
    uid: `auth-account-${name}`,
    title: `Auth / ${title}`,
    description,
    tags: ['auth-account'],
    schemaVersion,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'utc',
    links: [
      {
        type: 'dashboards',
        title: 'Auth',
        tags: ['auth-account'],
        asDropdown: true,
        includeVars: true,
        keepTime: true,
      },
    ],
    annotations: { list: [] },
    templating: templating(job),
    panels: layOut(rows),
  };
}
