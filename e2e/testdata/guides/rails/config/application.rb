require "rails"
require "active_job/railtie"
require "action_controller/railtie"
require "action_mailer/railtie"
require "rails/test_unit/railtie"

class Shop < Rails::Application
  config.load_defaults 6.1
  config.eager_load = false
  config.secret_key_base = "for tests and for nothing else"
  config.hosts.clear
  config.action_controller.allow_forgery_protection = false
end

class SignupMailer < ActionMailer::Base
  def code(to, code)
    mail(to: to, from: "shop@example.com", subject: "Confirm your address",
      content_type: "text/plain", body: "Your confirmation code is #{code}.\n")
  end
end

class SignupsController < ActionController::Base
  CODES = {}

  def create
    code = CODES[params[:email]] = rand(100_000..999_999).to_s
    SignupMailer.code(params[:email], code).deliver_later
    head :created
  end

  def confirm
    head CODES[params[:email]] == params[:code] ? :ok : :forbidden
  end
end
