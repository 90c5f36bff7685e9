/** A statement to MongoDB or a command to Redis, which is one round trip. */
export interface Statement {
  readonly store: 'MongoDB' | 'Redis';
  /** The query as in known-queries.ts, a command and its collection, or a command and its key. */
  readonly sent: string;
  readonly why: string;
  /** Set if the answer to the client does not wait for the statement. */
  readonly isBehind?: true;
}

/** An operation as it mostly runs, on kept connections, with a complete deny list, and without faults. */
export type CountedOperation = 'register' | 'login' | 'session read' | 'refresh' | 'refresh, one in eight' | 'logout';

const sessionWrite =
  'user_sessions findAndModify {_id, ahead.block, ahead.kid, cnf, expires_at <>, hold, is_revoked, token}';

/**
 * The statements of each operation, first those to MongoDB in their order, then those to Redis. The test
 * `test/integration/api/statements.test.ts` counts them.
 */
export const statements: Readonly<Record<CountedOperation, readonly Statement[]>> = {
  register: [
    {
      store: 'MongoDB',
      sent: 'users find {$or(email_key | former_emails [email_key, until <>])}',
      why: 'an email address that is taken costs no hash; also one to which its former holder can still return',
    },
    { store: 'MongoDB', sent: 'insert users', why: 'the account; its unique index decides between two at once' },
    { store: 'MongoDB', sent: 'insert groups', why: 'its group, with the owner and the number of members' },
    { store: 'MongoDB', sent: 'insert outbox', why: 'the event, which exists if and only if the account does' },
    { store: 'MongoDB', sent: 'commitTransaction', why: 'all three or none, on a majority’s disks before the 201' },
    { store: 'Redis', sent: 'evalsha limit:register', why: 'the limit by network, shared by all processes' },
    {
      store: 'Redis',
      sent: 'evalsha limit:login',
      why: 'the device and network are known from now on: their logins are not delayed by the guesses of unknown devices',
    },
    {
      store: 'Redis',
      sent: 'evalsha service.auth.events.registered',
      why: 'the event to its queue; if it is lost, a worker finds the row',
      isBehind: true,
    },
  ],
  login: [
    { store: 'MongoDB', sent: 'users find {email_key}', why: 'the account and its hash' },
    {
      store: 'MongoDB',
      sent: 'users findAndModify {_id}',
      why: 'writes the user’s document, so that a login and an end of all sessions, a move or a change of the password conflict; returns what the claims are made of',
    },
    {
      store: 'MongoDB',
      sent: 'insert user_sessions',
      why: 'the session; its unique index knows whether the device has one. Only a login that may concern other sessions reads them',
    },
    {
      store: 'MongoDB',
      sent: 'commitTransaction',
      why: 'a token that was handed out has its session on a majority’s disks',
    },
    {
      store: 'Redis',
      sent: 'evalsha limit:login',
      why: 'before the hash: counts the login for its network, and asks whether too many wrong passwords came before it',
    },
    {
      store: 'Redis',
      sent: 'evalsha limit:login',
      why: 'after the hash: asks again, so that of many guesses at once only as many get a verdict as there are left; the device and network are known',
    },
  ],
  'session read': [
    {
      store: 'MongoDB',
      sent: 'user_sessions find {expires_at <>, is_revoked, user_id}',
      why: 'the sessions that are asked for',
    },
    { store: 'Redis', sent: 'mget', why: 'the deny list: is it complete, and is this session on it?' },
  ],
  refresh: [
    {
      store: 'MongoDB',
      sent: sessionWrite,
      why: 'the compare-and-set by the presented token; returns the session and the claims that are signed',
    },
  ],
  'refresh, one in eight': [
    {
      store: 'MongoDB',
      sent: 'user_sessions find {_id}',
      why: 'the nonce of which the next eight hashes are made',
    },
    {
      store: 'MongoDB',
      sent: 'user_sessions update {_id, claims.account_type, claims.home_group_id, claims.ver, gen, hold exists, is_revoked, parent}',
      why: 'the compare-and-set by what was read',
    },
  ],
  logout: [
    {
      store: 'MongoDB',
      sent: 'user_sessions update {_id, expires_at <>, is_revoked, token, user_id}',
      why: 'revokes the session of the newest token; only a miss reads',
    },
    {
      store: 'Redis',
      sent: 'evalsha revocations',
      why: 'the deny list and the close command in one script: no gateway closes the stream before the list has it',
    },
  ],
};

/**
 * Commands that a process sends by itself, for many operations together. Once a second it counts refreshes by network
 * in Redis, and asks whether Redis accepts writes. Every 20 s it reports on itself, and once a minute it reads all.
 */
export const settledApart: readonly string[] = ['evalsha limit:refresh', 'set', 'time', 'multi', 'process', 'exec'];
