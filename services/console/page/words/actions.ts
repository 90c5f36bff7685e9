import type { Language } from '@auth-account/page/speech.tsx';
import type { ActionName } from '../../src/contract/index.ts';

/** The name of an action, and a text that says what it will do. */
interface ActionWords {
  readonly name: string;
  readonly says: string;
}

/** The actions in each language. */
export const actions: Readonly<Record<Language, Readonly<Record<ActionName, ActionWords>>>> = {
  en: {
    'session.end': { name: 'End the session', says: 'The device is signed out at once.' },
    'sessions.end_all': { name: 'End all sessions', says: 'Every device of the account is signed out at once.' },
    'code.resend': {
      name: 'Send the code again',
      says: 'The same mail goes again to the account’s own address. You do not see the code.',
    },
    'limits.clear': {
      name: 'Clear the lock',
      says: 'Wrong passwords, wrong codes and requested codes count anew, so the person can try again at once. So can somebody who guesses.',
    },
    'password.void': {
      name: 'Void the password',
      says: 'The password works no longer, and every session ends. The person must reset it by mail. Nobody learns or chooses one.',
    },
    'factor_removal.order': {
      name: 'Order the removal of the second factor',
      says: 'After 72 hours the second factor is off. The person is told at once and can stop it.',
    },
    'factor_removal.stop': { name: 'Stop the removal', says: 'The second factor stays on. The person is told.' },
    'invite.revoke': { name: 'Revoke the invite', says: 'Nobody can join by it any more. Members stay.' },
    'deletion.cancel': { name: 'Cancel the deletion', says: 'The account stays, and the person can log in again.' },
    'deletion.order': {
      name: 'Order the deletion',
      says: 'Every session ends now. The account is erased after the chosen days; 0 erases it at once, for good.',
    },
    'methods.remove': {
      name: 'Remove sign-in methods',
      says: 'The person can no longer log in by them. The password stays.',
    },
    'account.disable': {
      name: 'Disable the account',
      says: 'Every session ends, and no login works until it is enabled.',
    },
    'account.enable': { name: 'Enable the account', says: 'The person can log in again. Ended sessions stay ended.' },
    'account.export': {
      name: 'Export the data',
      says: 'You get all data that is held about the person, as a file. Hand it only to them.',
    },
    'event.replay': {
      name: 'Send again',
      says: 'The event goes again to the subscriber, which may have had it before.',
    },
    'dead_letter.discard': { name: 'Discard', says: 'The subscriber never gets this event.' },
    'subscriber.suspend': {
      name: 'Suspend',
      says: 'Nothing is sent to the subscriber. Its events wait, and none is lost.',
    },
    'subscriber.resume': { name: 'Resume', says: 'What has waited for the subscriber is sent.' },
    'subscriber.retry': { name: 'Try now', says: 'What waits for the subscriber’s next attempt is tried now, evenly.' },
  },
  ru: {
    'session.end': { name: 'Завершить сеанс', says: 'Вход на этом устройстве закончится сразу.' },
    'sessions.end_all': { name: 'Завершить все сеансы', says: 'Вход на всех устройствах аккаунта закончится сразу.' },
    'code.resend': {
      name: 'Отправить код ещё раз',
      says: 'То же письмо уйдёт на адрес самого аккаунта. Кода вы не увидите.',
    },
    'limits.clear': {
      name: 'Снять блокировку',
      says: 'Неверные пароли, коды и запросы кодов считаются заново, и человек может сразу попробовать снова. Но и тот, кто подбирает.',
    },
    'password.void': {
      name: 'Отменить пароль',
      says: 'Пароль перестанет работать, и закончатся все сеансы. Человек сбросит его по почте. Новый никто не узнает и не выберет.',
    },
    'factor_removal.order': {
      name: 'Заказать снятие второго фактора',
      says: 'Через 72 часа второй фактор выключится. Человек сразу узнает об этом и может это остановить.',
    },
    'factor_removal.stop': { name: 'Остановить снятие', says: 'Второй фактор останется. Человек узнает об этом.' },
    'invite.revoke': { name: 'Отозвать приглашение', says: 'По нему больше никто не вступит. Участники останутся.' },
    'deletion.cancel': { name: 'Отменить удаление', says: 'Аккаунт останется, и человек снова сможет войти.' },
    'deletion.order': {
      name: 'Заказать удаление',
      says: 'Все сеансы закончатся сейчас. Аккаунт будет стёрт через выбранное число дней; 0 — сразу и навсегда.',
    },
    'methods.remove': { name: 'Удалить способы входа', says: 'Человек больше не войдёт ими. Пароль останется.' },
    'account.disable': { name: 'Отключить аккаунт', says: 'Все сеансы закончатся, и войти будет нельзя до включения.' },
    'account.enable': {
      name: 'Включить аккаунт',
      says: 'Человек снова сможет войти. Завершённые сеансы не вернутся.',
    },
    'account.export': {
      name: 'Выгрузить данные',
      says: 'Вы получите файл со всеми данными о человеке. Передайте его только ему.',
    },
    'event.replay': { name: 'Отправить снова', says: 'Событие снова уйдёт подписчику, который мог его уже получить.' },
    'dead_letter.discard': { name: 'Отбросить', says: 'Подписчик никогда не получит это событие.' },
    'subscriber.suspend': {
      name: 'Приостановить',
      says: 'Подписчику ничего не отправляется. Его события ждут, ни одно не теряется.',
    },
    'subscriber.resume': { name: 'Возобновить', says: 'Всё, что ждало подписчика, будет отправлено.' },
    'subscriber.retry': {
      name: 'Повторить сейчас',
      says: 'Всё, что ждёт следующей попытки, уйдёт сейчас, равномерно.',
    },
  },
};
