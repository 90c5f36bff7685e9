import type { OperationsResult } from '../cost/measure-operations.ts';
import { askedADay, coresForMillion, type DeviceDay, dailyTasks } from './device-day.ts';
import { markdownTable } from './markdown-table.ts';
import { paragraphs, type Section } from './section.ts';

export function deviceDaySection(days: readonly DeviceDay[], { peers }: Pick<OperationsResult, 'peers'>): Section {
  const asked = dailyTasks.map((task) => `${task}, ${askedADay[task]} ×`);
  return {
    heading: 'A device-day',
    text: paragraphs(
      'CPU milliseconds of server, MongoDB and Redis for one device in one day, and the cores that a million devices keep busy if they ask evenly through the day. Handshakes are those of the push gateway, by its own process, at the largest number of streams.',
      peers.length === 0
        ? ''
        : 'A task that a server does not have counts nothing: none of the peers opens streams. So they are compared over what both have only: *beside api* divides by the api’s cost of the same tasks.',
      markdownTable(
        ['server', ...asked, 'a device-day', 'the same tasks at the api', 'beside api', 'cores for a million'],
        days.map(deviceDayRow),
      ),
    ),
    plots: {},
  };
}

function deviceDayRow(day: DeviceDay): string[] {
  const { candidate, tasks, ms, ofApi } = day;
  const missing = dailyTasks.filter((task) => tasks[task] === undefined);
  const total = `${ms.toFixed(1)} ms`;
  return [
    candidate,
    ...dailyTasks.map((task) => tasks[task]?.toFixed(2) ?? '–'),
    missing.length === 0 ? total : `${total}, without ${missing.join(', ')}`,
    candidate === 'api' ? '' : `${ofApi.toFixed(1)} ms`,
    candidate === 'api' ? '' : `${(ms / ofApi).toFixed(2)} ×`,
    coresForMillion(day).toFixed(2),
  ];
}
