import { listSessions, planEndSession } from '@auth-account/operations/sessions';
import { type Command, Option } from '@commander-js/extra-typings';
import { parseMoment, parseUuid } from '../../cli/parse-arguments.ts';
import type { Outcome, Shell } from '../../cli/shell.ts';
import { table } from '../../cli/table.ts';
import { withMongo, withStores } from '../../compose.ts';
import { order, reasonOption, requestIdOption, timeoutOption } from '../force-logout/order-options.ts';

/** Adds the commands `sessions …`. */
export function addSessionCommands(program: Command, shell: Shell): void {
  const sessions = program.command('sessions').description('devices that are logged in');
  sessions
    .command('list')
    .description("list a user's sessions")
    .addOption(new Option('--user <id|email>', 'user whose sessions are listed').makeOptionMandatory())
    .option('--revoked-since <when>', 'also list sessions revoked since this time, such as 7d', (text) =>
      parseMoment(text, shell.now()),
    )
    .action((options) =>
      shell.conclude(
        list(withMongo(shell, ({ collections }) => listSessions({ collections, now: shell.now }, options))),
      ),
    );
  sessions
    .command('revoke')
    .description('end one session: its tokens are refused, its stream closes with 4001')
    .argument('<session_id>', 'see sessions list', parseUuid)
    .addOption(reasonOption())
    .addOption(requestIdOption())
    .addOption(timeoutOption())
    .action((sessionId, given) =>
      shell.conclude(
        withStores(shell, (stores) =>
          order(stores, given, (context, options) => planEndSession(context, sessionId, options)),
        ),
      ),
    );
}

async function list(listed: ReturnType<typeof listSessions>): Promise<Outcome> {
  const json = await listed;
  const rows = json.sessions.map((row) => [
    row.session_id,
    row.state,
    row.platform,
    row.device_name,
    row.created_at,
    row.last_used_at,
    row.revoked_at,
    row.revoked_reason,
    row.revoked_request_id,
  ]);
  const head = ['session', 'state', 'platform', 'device', 'created', 'last used', 'ended', 'reason', 'by request'];
  return { json, text: rows.length === 0 ? 'No sessions.' : table(head, rows) };
}
