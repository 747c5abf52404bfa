// Sends a mail with each provider's own client, and then one that the provider would take and Mayfly does not.
import {SendEmailCommand, SESv2Client} from '@aws-sdk/client-sesv2'
import sendgrid from '@sendgrid/mail'
import FormData from 'form-data'
import Mailgun from 'mailgun.js'
import {ServerClient} from 'postmark'
import {Resend} from 'resend'

const base = process.env.MAYFLY_PROVIDERS, key = process.env.MAYFLY_API_KEY
const from = 'Shop <app@shop.example>', subject = 'Grüße 482913', text = 'Your code is 482913.\n', html = '<p>Your code is <b>482913</b> <img src="cid:logo"></p>'
const who = name => ['to', 'second', 'cc', 'bcc'].map(part => `${name}-${part}@example.com`)
const file = Buffer.from('a;b\n1;2\n'), image = Buffer.from('iVBORw0KGgo=', 'base64')
const say = (name, ...rest) => console.log(name, ...rest)
const refused = async (name, sent) => {
  try {
    const {error} = await sent() ?? {}
    say(name, 'refused', error ? `${error.name} ${error.message}` : 'nothing')
  } catch (e) {
    say(name, 'refused', e.name, e.code ?? e.status ?? e.statusCode, e.response?.body?.errors?.[0]?.message ?? e.details ?? e.message)
  }
}

{
  const client = new Resend(key, {baseUrl: process.env.RESEND})
  const [to, second, cc, bcc] = who('resend')
  const mail = {from, to: [to, second], cc, bcc, replyTo: 'help@shop.example', subject, text, html, headers: {'X-Order': '7'}, tags: [{name: 'kind', value: 'code'}],
    attachments: [{filename: 'räw.csv', content: file}, {filename: 'logo.png', content: image.toString('base64'), contentType: 'image/png', contentId: 'logo'}]}
  const {data, error} = await client.emails.send(mail)
  say('resend', error ?? 'sent', (await client.emails.get(data.id)).data.subject)
  const batch = await client.batch.send([{from, to, subject: 'first of two', text}, {from, to, subject: 'second of two', text}])
  say('resend', 'batch', batch.data.data.length)
  await refused('resend', () => client.emails.send({...mail, scheduledAt: 'in 1 min'}))
}
{
  sendgrid.setApiKey(key)
  sendgrid.client.setDefaultRequest('baseUrl', process.env.SENDGRID)
  const [to, second, cc, bcc] = who('sendgrid')
  const mail = {from, to: [to, {name: 'Second', email: second}], cc, bcc, replyTo: 'help@shop.example', subject, text, html, headers: {'X-Order': '7'}, categories: ['code'],
    attachments: [{filename: 'räw.csv', content: file.toString('base64'), type: 'text/csv', disposition: 'attachment'},
      {filename: 'logo.png', content: image.toString('base64'), type: 'image/png', disposition: 'inline', content_id: 'logo'}]}
  say('sendgrid', (await sendgrid.send(mail))[0].statusCode)
  await refused('sendgrid', () => sendgrid.send({...mail, templateId: 'd-1'}))
}
{
  const client = new ServerClient(key, {useHttps: false, requestHost: process.env.POSTMARK.replace('http://', '')})
  const [to, second, cc, bcc] = who('postmark')
  const mail = {From: from, To: `${to}, Second <${second}>`, Cc: cc, Bcc: bcc, ReplyTo: 'help@shop.example', Subject: subject, TextBody: text, HtmlBody: html, Tag: 'code',
    Headers: [{Name: 'X-Order', Value: '7'}], Metadata: {order: '7'}, Attachments: [{Name: 'räw.csv', Content: file.toString('base64'), ContentType: 'text/csv', ContentID: ''},
      {Name: 'logo.png', Content: image.toString('base64'), ContentType: 'image/png', ContentID: 'cid:logo'}]}
  say('postmark', (await client.sendEmail(mail)).Message)
  say('postmark', 'batch', (await client.sendEmailBatch([{From: from, To: to, Subject: 'one', TextBody: text}, {From: 'nobody', To: to, Subject: 'bad', TextBody: text}])).map(r => r.ErrorCode).join())
  await refused('postmark', () => client.sendEmailWithTemplate({From: from, To: to, TemplateId: 1, TemplateModel: {}}))
}
{
  const client = new Mailgun(FormData).client({username: 'api', key, url: process.env.MAILGUN})
  const [to, second, cc, bcc] = who('mailgun')
  const mail = {from, to: [to, second], cc, bcc, 'h:Reply-To': 'help@shop.example', 'h:X-Order': '7', 'o:tag': 'code', subject, text, html,
    attachment: {data: file, filename: 'räw.csv', contentType: 'text/csv'}, inline: {data: image, filename: 'logo', contentType: 'image/png'}}
  say('mailgun', (await client.messages.create('shop.example', mail)).message)
  const mime = 'From: app@shop.example\r\nTo: shown@example.com\r\nSubject: whole\r\n\r\nas it is\r\n'
  say('mailgun', 'whole', (await client.messages.create('shop.example', {to: 'mailgun-whole@example.com', message: mime})).status)
  await refused('mailgun', () => client.messages.create('shop.example', {...mail, template: 'welcome'}))
}
{
  const client = new SESv2Client({endpoint: process.env.SES, region: 'eu-central-1', credentials: {accessKeyId: key, secretAccessKey: 'any'}, maxAttempts: 1})
  const [to, second, cc, bcc] = who('ses')
  const mail = {FromEmailAddress: from, Destination: {ToAddresses: [to, second], CcAddresses: [cc], BccAddresses: [bcc]}, ReplyToAddresses: ['help@shop.example'],
    EmailTags: [{Name: 'kind', Value: 'code'}], Content: {Simple: {Subject: {Data: subject}, Body: {Text: {Data: text}, Html: {Data: html}}, Headers: [{Name: 'X-Order', Value: '7'}],
      Attachments: [{FileName: 'räw.csv', RawContent: file, ContentType: 'text/csv', ContentDisposition: 'ATTACHMENT'},
        {FileName: 'logo.png', RawContent: image, ContentType: 'image/png', ContentDisposition: 'INLINE', ContentId: 'logo'}]}}}
  say('ses', (await client.send(new SendEmailCommand(mail))).MessageId ? 'sent' : 'lost')
  const raw = Buffer.from('From: app@shop.example\r\nTo: ses-whole@example.com\r\nSubject: whole\r\n\r\nas it is\r\n')
  say('ses', 'whole', (await client.send(new SendEmailCommand({Content: {Raw: {Data: raw}}}))).MessageId ? 'sent' : 'lost')
  await refused('ses', () => client.send(new SendEmailCommand({...mail, Content: {Template: {TemplateName: 'welcome', TemplateData: '{}'}}})))
}
