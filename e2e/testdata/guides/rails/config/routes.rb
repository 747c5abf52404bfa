Rails.application.routes.draw do
  post "/signup", to: "signups#create"
  post "/confirm", to: "signups#confirm"
end
