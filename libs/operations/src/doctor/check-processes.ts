import { findNewerData, type UpgradeRecord } from '@auth-account/lifecycle/upgrade';
import { type ProcessReport, type ReportedKeys, readProcessReports } from '@auth-account/messaging/process-reports';
import type { KidInUse } from '@auth-account/stores/kids-in-use';
import type { Mongo, RedisStore } from '../context.ts';
import { refusalFixes } from './check-providers.ts';
import { type Finding, failed, judgeClock, ok, warning } from './finding.ts';

type Stores = Pick<Mongo & RedisStore, 'db' | 'stores' | 'redis' | 'keys'>;

/**
 * Compares what the running processes report of themselves every 20 s: their clocks with MongoDB's, and their versions,
 * settings and keys with each other's and with the stored data.
 */
export async function checkProcesses({ db, stores, redis, keys }: Stores): Promise<Finding[]> {
  const [reports, redisAheadMs, inUse, upgrades] = await Promise.all([
    readProcessReports(redis, keys),
    measureRedis({ db, redis }),
    stores.kidsInUse(),
    stores.upgrades.list(),
  ]);
  if (reports.length === 0) {
    const fix =
      'See that services of this version run, with the same KEY_PREFIX. The first reports come with their start.';
    return [warning('processes', 'none has reported to Redis in the last minute: not checked', fix)];
  }
  const findings = reports.flatMap((report) => [
    ...checkClocks(report, redisAheadMs),
    checkSettings(report, reports),
    ...checkSigners(report, reports),
    ...checkRefusals(report),
  ]);
  return [checkVersions(reports, upgrades), ...findings, ...checkSealed(inUse, reports)];
}

/** Lists the processes by version, and looks for those that are too old for the data. */
function checkVersions(reports: readonly ProcessReport[], upgrades: readonly UpgradeRecord[]): Finding {
  const builds = reports.map(({ process, version = 'unknown', generation = 0 }) => ({ process, version, generation }));
  const groups = Map.groupBy(builds, ({ version, generation }) => `${version} (generation ${generation})`);
  const lines = [...groups]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([name, group]) => `${name}: ${group.map(({ process }) => process).join(', ')}`);
  const faults = new Set(builds.flatMap((build) => findNewerData(build, upgrades) ?? []));
  const [check, detail, page] = [
    'versions',
    [...faults, ...lines].join('; '),
    'docs/operations.md, "Upgrade and roll back"',
  ];
  if (faults.size > 0) return failed(check, detail, `Upgrade what is too old for the data: ${page}.`);
  return groups.size === 1
    ? ok(check, detail)
    : warning(check, detail, `Complete the upgrade, or roll it back: ${page}.`);
}

/** Returns the milliseconds by which Redis's clock is ahead of MongoDB's. */
async function measureRedis({ db, redis }: Pick<Stores, 'db' | 'redis'>): Promise<number> {
  const asked = performance.now();
  const [{ localTime }, [seconds, microseconds]] = [await db.admin().command({ hello: 1 }), await redis.time()];
  const apart = (performance.now() - asked) / 2;
  return Math.round(Number(seconds) * 1_000 + Number(microseconds) / 1_000 - apart - (localTime as Date).getTime());
}

function checkClocks({ process, ahead_ms }: ProcessReport, redisAheadMs: number): Finding[] {
  const [host, tokens] = [ahead_ms.host + redisAheadMs, ahead_ms.tokens + redisAheadMs];
  const within = `give or take ${ahead_ms.within} ms`;
  const ofHost = judgeClock(`clock of ${process}`, host, `${host} ms ahead of MongoDB's, ${within}`);
  // Those who ask MongoDB for the time date tokens by it.
  if (Math.abs(host - tokens) < 2) return [ofHost];
  return [ofHost, judgeClock(`token clock of ${process}`, tokens, `${tokens} ms ahead of MongoDB's, ${within}`)];
}

const settingNames = { issuer: 'TOKEN_ISSUER', audience: 'TOKEN_AUDIENCE' } as const;

/** Compares a process with the apis, which sign the tokens. */
function checkSettings(report: ProcessReport, reports: readonly ProcessReport[]): Finding {
  const check = `settings of ${report.process}`;
  const signers = reports.filter(({ token_seconds }) => token_seconds?.signs !== undefined);
  const faults = signers.flatMap((signer) => [
    ...(['issuer', 'audience'] as const).flatMap((name) =>
      report[name] === undefined || report[name] === signer[name]
        ? []
        : [`${settingNames[name]} is ${report[name]}, but ${signer[name]} at ${signer.process}`],
    ),
    ...(Number(report.token_seconds?.takes) < Number(signer.token_seconds?.signs)
      ? [`tokens of more than ${report.token_seconds?.takes} s are refused, but ${signer.process} signs such`]
      : []),
  ]);
  if (faults.length === 0) return ok(check, "as the apis'");
  const fix = 'Give all services the same TOKEN_ISSUER, TOKEN_AUDIENCE and token lives, and restart those that differ.';
  return failed(check, [...new Set(faults)].join('; '), fix);
}

const keyFixes = {
  access:
    'Update the ConfigMap or Secret of its access keys: docs/operations.md, "Rotate a key". Its log says `key file not taken` if the file is wrong.',
  refresh: 'Update the Secret of its refresh keys: docs/operations.md, "Rotate a key".',
  server: 'Update the Secret of its server keys: docs/operations.md, "Rotate a key".',
} as const;

/** Looks for keys with which another process signs, and which this one does not know. */
function checkSigners({ process, keys }: ProcessReport, reports: readonly ProcessReport[]): Finding[] {
  return (Object.entries(keys) as [keyof typeof keyFixes, ReportedKeys][]).map(([kind, { takes }]) => {
    const check = `${kind} keys of ${process}`;
    const unknown = reports.flatMap(({ process: signer, keys: { [kind]: others } }) =>
      others?.signs === undefined || takes.includes(others.signs) ? [] : [`${others.signs} of ${signer}`],
    );
    if (unknown.length === 0) return ok(check, takes.join(', '));
    return failed(check, `${takes.join(', ')}: does not know ${unknown.join(', ')}`, keyFixes[kind]);
  });
}

/** Reports the providers that have refused a process since they last took its key: it may run with an earlier one. */
function checkRefusals({ process, refused_by = {} }: ProcessReport): Finding[] {
  return Object.entries(refused_by).map(([provider, { fault, at }]) =>
    failed(
      `${provider} at ${process}`,
      `refused it at ${at}: ${fault}`,
      `${refusalFixes[fault]} Then restart api and worker.`,
    ),
  );
}

/** Looks for server keys that stored data needs, and that some process does not have. */
function checkSealed(inUse: readonly KidInUse[], reports: readonly ProcessReport[]): Finding[] {
  const holders = reports.filter(({ keys }) => keys.server !== undefined);
  if (holders.length === 0) return [];
  const faults = inUse.flatMap(({ kid, kind, count }) => {
    const without = holders.filter(({ keys }) => !keys.server?.takes.includes(kid)).map(({ process }) => process);
    const where = without.length === holders.length ? 'no process' : `not ${[...new Set(without)].join(', ')}`;
    return without.length === 0 ? [] : [`${kid} of ${count} ${kind} is at ${where}`];
  });
  const check = 'server keys in use';
  if (faults.length === 0) return [ok(check, [...new Set(inUse.map(({ kid }) => kid))].join(', ') || 'none')];
  return [failed(check, faults.join('; '), 'Put the key back into the file: docs/runbooks/AuthKeyMissing.md.')];
}
