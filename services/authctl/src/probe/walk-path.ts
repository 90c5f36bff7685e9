import { closeCodes, pushStreamPath, routes } from '@auth-account/contracts';
import type { TokenResponse } from '@auth-account/contracts/http/login';
import { type ApiClient, createApiClient } from './api-client.ts';
import type { Credentials, MailPlan, ProbePlan } from './probe-plan.ts';
import { openPushStream, type PushStream, type StreamEnd } from './push-stream.ts';
import { createStepLog, ProbeFailure, type StepReport, type TakeStep } from './step-log.ts';
import { walkMail } from './walk-mail.ts';
import { type Patience, within } from './within.ts';

export interface WalkOptions {
  readonly plan: Pick<ProbePlan, 'apiUrl' | 'pushUrl' | 'timeoutMs'>;
  readonly credentials: Credentials;
  /** True if the account is to be registered first. */
  readonly isNew: boolean;
  /** Set if the run goes on with the path through the mailbox. */
  readonly mail: MailPlan | undefined;
  readonly deviceId: string;
  readonly requestId: string;
  readonly stop: AbortSignal;
}

/** Milliseconds from a logout to the close of its stream. */
export interface CloseTime {
  readonly since_request_ms: number;
  /** Negative if the close came before the answer. */
  readonly since_answer_ms: number;
}

export interface Walk {
  /** True if every step succeeded. */
  readonly ok: boolean;
  readonly steps: readonly StepReport[];
  /** Set if the stream closed as the contract says. */
  readonly close?: CloseTime;
  /** Session that the login opened. */
  readonly sessionId?: string;
}

/**
 * Milliseconds that a running request may continue after the stop. Without this time, a registration could take effect
 * after the cleanup.
 */
const requestGraceMs = 2_000;

/**
 * Walks the main path as an app does: registers (optional), logs in, opens the push stream, logs out and waits for the
 * close with 1000 `LOGOUT_CONFIRMED`. Then it walks the path through the mailbox (optional). It ends at the first step
 * that violates the contract.
 */
export async function walkPath(options: WalkOptions): Promise<Walk> {
  const { plan, credentials, deviceId, mail, requestId, stop } = options;
  const { reports, take } = createStepLog();
  const patience = { timeoutMs: plan.timeoutMs, stop, graceMs: 0 };
  const api = createApiClient({ apiUrl: plan.apiUrl, requestId, patience: { ...patience, graceMs: requestGraceMs } });
  const found: { ok: boolean; sessionId?: string; stream?: PushStream; close?: CloseTime } = { ok: false };
  try {
    const tokens = await enter(options, api, take);
    found.sessionId = tokens.session_id;
    found.stream = await take('open', () => open(options, tokens, patience));
    found.close = await leave(api, tokens, found.stream, take, patience);
    if (mail !== undefined) {
      const mailPatience = { ...patience, timeoutMs: mail.waitMs };
      await walkMail({ api, mailbox: mail, credentials, deviceId, take, patience: mailPatience });
    }
    found.ok = true;
  } catch (error) {
    if (!(error instanceof ProbeFailure)) throw error;
  } finally {
    found.stream?.terminate();
    await api.close();
  }
  const { stream: _, ...rest } = found;
  return { steps: reports, ...rest };
}

type Tokens = TokenResponse['data'];

async function enter({ credentials, isNew, deviceId }: WalkOptions, api: ApiClient, take: TakeStep): Promise<Tokens> {
  const registered = isNew ? await take('register', () => register(api, credentials)) : undefined;
  return take('login', async () => {
    const body = { ...credentials, device_id: deviceId, device_name: 'probe', platform: 'other' };
    const { data } = await api.post(routes.logIn, body);
    if (registered !== undefined) {
      expectSame('user_id', data.user_id, registered.user_id);
      expectSame('home_group_id', data.home_group_id, registered.home_group_id);
    }
    expectSame('push_stream_path', data.push_stream_path, pushStreamPath(data.session_id));
    return data;
  });
}

async function register(api: ApiClient, credentials: Credentials) {
  const { data } = await api.post(routes.registerAccount, { ...credentials, space_creation_mode: 'CREATE_NEW_HOME' });
  return data;
}

async function open({ plan, requestId }: WalkOptions, tokens: Tokens, patience: Patience): Promise<PushStream> {
  const { access_token: accessToken, push_stream_url, push_stream_path, session_id, home_group_id } = tokens;
  const url = plan.pushUrl === undefined ? push_stream_url : `${plan.pushUrl}${push_stream_path}`;
  const stream = await openPushStream({ url, accessToken, requestId, patience });
  expectSame('session_id', stream.hello.session_id, session_id);
  expectSame('home_group_id', stream.hello.home_group_id, home_group_id);
  return stream;
}

async function leave(
  api: ApiClient,
  { access_token, refresh_token }: Tokens,
  stream: PushStream,
  take: TakeStep,
  patience: Patience,
): Promise<CloseTime> {
  const asked = performance.now();
  await take('logout', () => api.post(routes.logOut, { refresh_token }, access_token));
  const answered = performance.now();
  const end = await take('close', async () => expectConfirmed(await within(patience, () => stream.ended)));
  return { since_request_ms: toTenths(end.at - asked), since_answer_ms: toTenths(end.at - answered) };
}

function expectConfirmed(end: StreamEnd): StreamEnd {
  const { code, reason } = end;
  if (code === closeCodes.LOGOUT_CONFIRMED && reason === 'LOGOUT_CONFIRMED') return end;
  throw new ProbeFailure(`closed with ${code} ${reason}`.trimEnd());
}

function expectSame(field: string, came: string, expected: string): void {
  if (came !== expected) throw new ProbeFailure(`${field} is ${came} in place of ${expected}`);
}

const toTenths = (ms: number) => Math.round(ms * 10) / 10;
